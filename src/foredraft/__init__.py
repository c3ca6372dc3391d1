"""foredraft: exact speculative decoding, measured."""
