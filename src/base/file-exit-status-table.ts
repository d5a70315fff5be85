/** The exit statuses of `router check`, `router run` and `router enroll`. Other failures have the status of their kind. */
import { FrontdoorError } from './errors.ts';

export const FILE_EXIT_STATUS = {
  /** The file is valid; the router was stopped by a signal; the router is enrolled. */
  success: 0,
  /** The file has errors. */
  invalidFile: 1,
  /** No controller was reached within `ctrl.startupTimeout`. OpenZiti's router ends the same way. */
  noController: 1,
  /** The file cannot be read. */
  unreadableFile: 2,
} as const;

/** Returns the exit status of a failure that concerns the configuration file, and undefined for any other. */
export function fileExitStatus(error: unknown): number | undefined {
  if (!(error instanceof FrontdoorError)) return undefined;
  if (error.code === 'config-invalid') return FILE_EXIT_STATUS.invalidFile;
  return error.code === 'config-unreadable' ? FILE_EXIT_STATUS.unreadableFile : undefined;
}
