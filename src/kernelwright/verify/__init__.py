"""Gates that a candidate passes in order, judged from raw bytes where its code never ran."""
