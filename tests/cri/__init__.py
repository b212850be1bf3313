"""Tests of the boundary to a runtime, against real gRPC servers on unix sockets."""
