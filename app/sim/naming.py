"""Names that the runtime has given out, and the ids that go with them.

containerd reserves ``name_pod_namespace_uid_attempt`` for each container and refuses it to a second
one; so a kubelet that asks twice does not get two.
"""

import hashlib
from functools import lru_cache


class NameTakenError(Exception):
    """The name belongs to something that exists."""


class Names:
    """Reserved names; ids are 64 hex digits made of the seed, the name and the time.

    Not from a running generator: an id does not depend on what else was made before it.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._holder: dict[str, str] = {}
        self._name: dict[str, str] = {}

    def check(self, name: str) -> None:
        """Raise :class:`NameTakenError` if the name is reserved."""
        holder = self._holder.get(name)
        if holder is not None:
            raise NameTakenError(f'name "{name}" is reserved for "{holder}"')

    def reserve(self, name: str, now: int) -> str:
        """Reserve a name; returns the id of its holder.

        Raises:
            NameTakenError: it is reserved already.
        """
        self.check(name)
        object_id = hashlib.sha256(f"{self._seed}/{name}/{now}".encode()).hexdigest()
        self._holder[name] = object_id
        self._name[object_id] = name
        return object_id

    def release(self, object_id: str) -> None:
        """The holder is gone: its name may be used again."""
        del self._holder[self._name.pop(object_id)]


@lru_cache(maxsize=256)
def digest(image: str) -> str:
    """What stands for an image's content (64 hex digits): the same for the same name."""
    return hashlib.sha256(image.encode()).hexdigest()
