"""plegscope: a Kubernetes node's Pod Lifecycle Event Generator, watched at work.

The package is laid out in rooms, one noun each; ARCHITECTURE.md has the map. Nothing is
imported here on purpose: ``import app`` costs nothing and pulls in no dependency.
"""

__version__ = "0.1.0"
