"""The named operations of the product, one module per noun; `table` lists them."""
