"""What a device will do before it is built: trainings, outage and losses, and the battery and panel that it needs."""
