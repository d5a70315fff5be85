/** Failures of files that Node reports with codes, such as `EROFS: read-only file system, open '…'`, as errors for people. */
import { FrontdoorError } from '#base';

/** Undefined for any other error. */
export function fileFailure(error: unknown): FrontdoorError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  const options = { cause: error };
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    // A failed write has no path.
    const message = `${path ?? 'a file cannot be written'}: the disk is full`;
    return new FrontdoorError('unavailable', 'disk-full', message, options);
  }
  if (path === undefined) return undefined;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return new FrontdoorError(
        'forbidden',
        'file-forbidden',
        `${path}: this user has no permission for it`,
        options,
      );
    case 'EROFS':
      return readOnly(path, options);
    case 'ENOENT':
      // Node makes folders from the last one upwards, and reports this for a file system that is read-only.
      return syscall === 'mkdir' ? readOnly(path, options) : undefined;
    default:
      return undefined;
  }
}

function readOnly(path: string, options: { readonly cause: Error }): FrontdoorError {
  const message = `${path}: its file system is read-only; choose another place`;
  return new FrontdoorError('unavailable', 'disk-read-only', message, options);
}
