"""A real containerd on this machine, and pods to break, for tests and benches.

Three versions of containerd (1.6, 1.7 and 2.x) come from Debian's packages, which are
unpacked into a cache and never installed. `Containerd` runs one of them privately,
`Pods` makes pods on it as a kubelet would and kills, stops and removes them.
By hand: ``python -m tests.lab --help``. In tests: the fixtures of `tests.lab.fixtures`.
"""
