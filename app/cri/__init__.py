"""The boundary to a container runtime: a client that can only read, and a source made from it.

From the outside in: ``endpoints`` finds the socket, ``client`` makes calls through ``allowlist``,
``probe`` decides whether the event stream may be joined, ``stream`` keeps it, ``ring`` and
``feeder`` carry what it sends, ``convert`` turns messages into the engine's words, and ``source``
puts all of it behind the two methods of ``app.source.Source``.
"""
