/** Streams of server-sent events with bounds. */
export {
  EventFollowers,
  type EventFollowersOptions,
  type EventSource,
  type FollowedStream,
} from './event-followers.ts';
