"""The tests, laid out as `src/foredraft`; `worlds` and `exact` are the helpers they share."""
