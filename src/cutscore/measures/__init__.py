"""What is asked: the confusion matrix, its measures and costs, limits, and the aim."""
