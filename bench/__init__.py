"""What the service costs, measured. Never part of a test: figures of a shared machine prove nothing by themselves."""
