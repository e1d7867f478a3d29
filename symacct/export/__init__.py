"""What leaves symacct: formulas, LaTeX, documents, tables, code, citations, statements."""
