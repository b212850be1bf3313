"""Headers that every answer carries."""

from collections.abc import Iterable

from starlette.types import Scope

_FIXED = (
    (b"x-content-type-options", b"nosniff"),
    # With "no-referrer" a form of ours would be sent with `Origin: null`, and refused.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"x-frame-options", b"DENY"),
)


def content_security_policy(host: str | None) -> str:
    """Nothing but our own files, no inline script or style, and nobody may frame us.

    Args:
        host: a Host that was found allowed. The WebSocket is named with it because older browsers
            do not take ``'self'`` for ``ws:``.
    """
    sockets = f" ws://{host} wss://{host}" if host else ""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"font-src 'self'; connect-src 'self'{sockets}; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )


def secured(
    headers: Iterable[tuple[bytes, bytes]], scope: Scope, host: str | None
) -> list[tuple[bytes, bytes]]:
    """An answer's headers with ours; Cache-Control is only set where the answer has none."""
    ours = [*_FIXED, (b"content-security-policy", content_security_policy(host).encode())]
    names = {name for name, _ in ours}
    kept = [(name, value) for name, value in headers if name.lower() not in names]
    if not any(name.lower() == b"cache-control" for name, _ in kept):
        # Static files carry an ETag: the browser keeps them and asks whether they still hold.
        static = scope["path"].startswith("/static/")
        kept.append((b"cache-control", b"no-cache" if static else b"no-store"))
    return kept + ours
