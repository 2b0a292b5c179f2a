"""Small widgets that several pages share. They paint and ask; they decide nothing."""
