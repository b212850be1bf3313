"""``plegscope simulate`` and ``scenarios``: sessions in virtual time, without a server."""
