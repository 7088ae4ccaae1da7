"""How fast asof is: `python -m bench` measures, prints a table and writes JSON. One module measures one subject."""
