"""Frozen values that cross the layers. Must hold no behaviour beyond what the value itself says."""
