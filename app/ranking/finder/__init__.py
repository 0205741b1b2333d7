"""The ranker `finder`: hybrid seeds, then relevance spread along the graph (finder.md).

A note that never names the topic is found when everything that does is one relation away.
"""
