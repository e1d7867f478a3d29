"""The expression DAG: nodes, their parameters, and the register of theorems about them."""
