"""complog on terminals, with colours, tables and links; the hooks are in `plugin`."""
