/** Streams of server-sent events with bounds, and the changes of resources that two of them carry. */
export { ChangeFollowers, type ChangeFollowRequest } from './change-followers.ts';
export { INSTALLATION_TOPIC, isLogPosition } from './change-log.ts';
export { EventFollowers, type EventSource, type FollowedStream } from './event-followers.ts';
