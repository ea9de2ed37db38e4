"""What people, their mail and their filters do in a world, drawn by lot."""
