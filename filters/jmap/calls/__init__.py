"""What the calls of JMAP answer, by the kind of object: ``methods`` names them."""
