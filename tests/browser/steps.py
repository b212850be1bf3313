"""What a step back costs: the run it is measured on, and how; for the test and for the bench."""

STEPS = 50

BIG = """
title = "A hundred and ten pods for ten minutes"
shows = "What a step back costs."
duration = "10m"
""" + "".join(
    f"""
[[workload]]
kind = "replicas"
name = "web-{n}"
namespace = "shop"
count = 11
resize = [
  {{ at = "{20 + n}s", count = 5 }}, {{ at = "{60 + n}s", count = 11 }},
  {{ at = "{200 + n}s", count = 2 }}, {{ at = "{300 + n}s", count = 11 }},
  {{ at = "{420 + n}s", count = 0 }}, {{ at = "{500 + n}s", count = 11 }},
]
"""
    for n in range(10)
)

#: One step back and the frame that shows it, again and again: milliseconds of each.
TIME_STEPS = """(count) => {
  const took = [];
  for (let i = 0; i < count; i += 1) {
    const before = performance.now();
    player.step(-1);
    plegscope.timeline.frame();
    took.push(performance.now() - before);
  }
  return took;
}"""
