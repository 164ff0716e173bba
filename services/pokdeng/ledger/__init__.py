"""Exact balances in Redis, moved by idempotent operations; an in-memory twin behind the same port."""
