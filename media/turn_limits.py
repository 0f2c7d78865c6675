"""Every deadline of the turn machine, in seconds."""

# A late final learner transcript may arrive this long after the end of the exchange (VOICE-52).
GRACE_S = 0.4
# The learner waits this long for the first audio of a reply.
FORMULATING_S = 20.0
# An extended-thinking model said that the answer still follows (VOICE-55).
THINKING_S = 30.0
# Speech without words is noise after this (VOICE-56).
NOISE_S = 4.0
# The service ended the turn without a reply: one may still follow (a cancelled generation).
EMPTY_S = 1.0
# A tutor who has said everything but whose turn is not declared over; one who fell silent midway.
COMPLETION_S = 1.0
SILENT_S = 2.0
# Longest stretch of speech of one learner turn.
SPEECH_MAX_S = 180.0
# A playout that reports nothing is taken for drained this long after its audio must have ended.
STUCK_S = 5.0
# A turn that cannot be handed in because the link is down.
LINK_DOWN_S = 60.0
# Words sooner than this after an onset belong to earlier speech: no recogniser is faster.
WORDS_LAG_S = 0.25
# A transcript may come this long after the speech it belongs to.
LATE_WORDS_S = 2.0
# Typed turns of one learner that wait for an answer at the same time (OWN-76).
TYPED_MAX = 16
# So many turns in a row with words but without an answer are a trouble.
EMPTY_TURNS = 3
