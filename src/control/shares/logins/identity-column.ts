/** The identity of a person in a column of the store, as sessions and pending sign-ins have it. */
import { jsonReader } from '#base/shapes';
import { callerIdentitySchema } from '#domain/access';

/** Throws if the text is damaged. */
export const readIdentity = jsonReader(callerIdentitySchema);
