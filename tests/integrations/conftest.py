"""The tests of integrations have an environment of their own: `make test-integrations`."""
