"""Pod addresses, handed out in turn as the usual CNI address manager does."""

from ipaddress import IPv4Address, IPv4Network


class AddressesExhausted(Exception):
    """Every address of the node's pod network is taken."""


class PodAddresses:
    """The node's pod network; the first host address belongs to the bridge.

    An address that was given back is used again only after all others (round-robin), so that a new
    pod does not inherit its predecessor's address at once.
    """

    def __init__(self, network: str = "10.244.16.0/21") -> None:
        net = IPv4Network(network)
        self._first = int(net.network_address) + 2
        self._count = net.num_addresses - 3
        self._next = 0
        self._taken: set[int] = set()

    def take(self) -> str:
        """The next free address.

        Raises:
            AddressesExhausted: there is none.
        """
        if len(self._taken) >= self._count:
            raise AddressesExhausted("no pod address is left on this node")
        while self._next in self._taken:
            self._next = (self._next + 1) % self._count
        index = self._next
        self._taken.add(index)
        self._next = (index + 1) % self._count
        return str(IPv4Address(self._first + index))

    def give_back(self, address: str) -> None:
        """The address is free again; one that was not taken is ignored."""
        self._taken.discard(int(IPv4Address(address)) - self._first)
