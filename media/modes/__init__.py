"""The ways a lesson can sound: who hears the learner, who decides, who speaks. Pure machines."""
