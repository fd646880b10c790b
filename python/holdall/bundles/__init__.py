"""How the classes of well-known libraries are stored: a module for each library, imported by `holdall.register_known`."""
