"""Privacy in other currencies, from the curve or from the pair: f-DP, GDP, zCDP, tCDP."""
