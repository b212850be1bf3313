"""What /metrics says: the kubelet's own PLEG metrics as the shadow has them, and plegscope's."""
