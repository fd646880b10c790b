"""holdall in other libraries' places for a serializer: a module for each library, imported only when it is asked for.

    from holdall.integrations.diskcache import HoldDisk

All of them take the same options, which `holdall.integrations.Codec` explains; docs/integrations has a page for each library.
"""

from ._base import Codec

__all__ = ["Codec"]
