"""The page that ``gategrammar score --report`` writes."""
