"""What server and nodes say to each other."""
