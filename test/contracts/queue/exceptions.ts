/**
 * The rules that an endpoint is known to break, by the rule's sentence, and what that means for us. The suite checks that each is
 * broken still: an exception that is no longer needed fails.
 */
export type Exceptions = Readonly<Record<string, string>>;

/** local-aws-sqs 2.0.2. */
export const LOCAL_AWS_SQS: Exceptions = {
  'refuses a character that SQS does not carry, and only that entry': 'takes any; encodeEnvelope escapes them, which its own tests hold',
  'counts a body in bytes of UTF-8': 'counts UTF-16 units; our batches count bytes',
  'counts receives by one after a change of visibility too':
    'counts each receive twice from then on, so its redrive comes early: assert no counts there',
  'keeps the time of sending in the dead letters': 'has the time of the move; ours is firstSeenAt of the envelope',
  'goes on counting receives in the dead letters': 'begins again at 1',
  'counts what is visible, in flight and delayed': 'counts delayed messages as visible too',
  'tells our adapter how many messages could be received now': 'counts delayed messages as visible too, as above',
  'ends a long poll for ten when one message comes': 'waits for all ten or to the end; createReceiver polls without waiting instead',
};

/** ElasticMQ 1.7.1. */
export const ELASTICMQ: Exceptions = {
  'counts a body in bytes of UTF-8': 'counts characters; our batches count bytes',
  'counts attributes to the size': 'counts the body only; our batches count both',
  'takes a second delete of a message': 'refuses it; nothing of ours deletes twice',
  'refuses an empty batch': 'takes it; createQueue sends none',
  'refuses an entry id with a space in it': 'takes it; our ids are numbers',
  'refuses a visibility over 12 h': 'takes it; nothing of ours asks for that',
};
