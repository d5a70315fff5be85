/**
 * The hello of a link. Its body is the link's id; its headers name the two routers, the iteration of the dial and the
 * binding. They replace the channel's headers 2 to 6. Headers that the channel adds (group, secret, type) are not here.
 */
import { HeaderWriter, headerId, textOfBody, type Frame, type FrameHeaders } from '#wire';

const HEADERS = headerId.linkHello;

export interface LinkHello {
  readonly linkId: string;
  /** Random id that the dialer creates for each dial. */
  readonly connectionId: string;
  /** Id of the router that dials. */
  readonly routerId: string;
  /** The version of the dialed router, as the dialer knows it; '' if it does not. */
  readonly routerVersion: string;
  /** The interface of the dialer; can be empty. */
  readonly binding: string;
  readonly iteration: number;
  /** Id of the router that is dialed. Undefined if the dialer's version is below 1.7. */
  readonly dialedRouterId: string | undefined;
}

/** Maximum length of a peer's id: base 62 ids have 22 characters, and controllers choose the ids of routers. */
const MAX_ID_LENGTH = 128;

export function encodeLinkHello(hello: LinkHello): FrameHeaders {
  const headers = new HeaderWriter()
    .text(HEADERS.connectionId, hello.connectionId)
    .text(HEADERS.routerId, hello.routerId)
    .text(HEADERS.routerVersion, hello.routerVersion)
    .text(HEADERS.binding, hello.binding)
    .u32(HEADERS.iteration, hello.iteration);
  if (hello.dialedRouterId !== undefined) headers.text(HEADERS.dialedRouterId, hello.dialedRouterId);
  return headers.text(HEADERS.linkId, hello.linkId).build();
}

/** Returns a text with the reason if the frame is not a hello of a link. */
export function decodeLinkHello(frame: Frame): LinkHello | string {
  const { headers } = frame;
  const linkId = headers.text(HEADERS.linkId) ?? textOfBody(frame);
  const routerId = headers.text(HEADERS.routerId) ?? '';
  if (linkId === '' || linkId.length > MAX_ID_LENGTH) return 'no link id';
  if (routerId === '' || routerId.length > MAX_ID_LENGTH) return 'no router id';
  const binding = headers.text(HEADERS.binding) ?? '';
  if (binding.length > MAX_ID_LENGTH) return 'a binding that is too long';
  return {
    linkId,
    connectionId: headers.text(HEADERS.connectionId) ?? '',
    routerId,
    routerVersion: headers.text(HEADERS.routerVersion) ?? '',
    binding,
    iteration: headers.u32(HEADERS.iteration) ?? 0,
    dialedRouterId: headers.text(HEADERS.dialedRouterId),
  };
}
