"""The palette: everything that can be pressed, for the live demo and for a run played ahead.

Names are for ever: they stand in links, and a link of today must press the same tomorrow.
"""

import re

from app.sim.button import Button
from app.sim.pressactions import pod_buttons
from app.sim.pressfaults import (
    events_buttons,
    kubelet_buttons,
    lists_buttons,
    node_buttons,
    runtime_buttons,
    stream_buttons,
)
from app.sim.units import seconds

NAME = re.compile(r"[a-z-]{1,40}")
"""What a button may be called."""

LONGEST = seconds(600)
"""Nothing that is pressed stays at work longer; whoever wants more presses again."""

PALETTE: tuple[Button, ...] = (
    *stream_buttons(),
    *events_buttons(),
    *lists_buttons(),
    *runtime_buttons(),
    *kubelet_buttons(),
    *pod_buttons(),
    *node_buttons(),
)
"""In the order of the palette."""

BY_NAME: dict[str, Button] = {button.name: button for button in PALETTE}
