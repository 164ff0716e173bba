"""The chart, rendered: what lies in the manifests."""
