"""What operators get, written from the code: the page of the metrics, and the Grafana dashboard."""
