/** Hashes of passwords, computed in turns, and the queue of log-ins that wait for them. */
export {
  PasswordQueueFull,
  UnlikeHash,
  findPasswordOf,
  hashPassword,
  isPasswordOf,
  isPasswordSuspect,
} from './password-hash.ts';
