/** Opens the ports of the control plane, each with the option that chooses it. */
import { FrontdoorError } from '#base';

/** A taken port must be solved by the operator, so the error names it and the option. */
export async function listening<T>(option: string, port: number, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw cause;
    const why = code === 'EACCES' ? 'may not be opened by this user' : 'is taken';
    throw new FrontdoorError('conflict', 'port-taken', `port ${port} ${why}: choose another with ${option}`, {
      cause,
    });
  }
}
