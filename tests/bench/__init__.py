"""What ``make bench`` measures: plegscope's cost and speed on a real containerd, as ratios.

Whatever is compared runs side by side in the same seconds, because absolute numbers of a shared
machine mean little. A figure that misses its target is printed as missed and nothing more: tests
hold what must never break, these show where plegscope stands. ``python -m tests.bench --help``.
"""
