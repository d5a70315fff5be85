/** The key of an AWS account: from the variables or from a file, both in the form of the AWS command line. */
import { Secret } from '#base';
import type { AwsKey } from './aws-signature.ts';
import { refused, type ProviderSecret } from './provider-settings.ts';

const ID = /^\w{16,128}$/;
const FIELD =
  /^[ \t]*(aws_access_key_id|aws_secret_access_key|aws_session_token)[ \t]*=[ \t]*(\S+)[ \t]*$/gim;

/** @throws FrontdoorError `acme-options`, without repeating the secret */
export function awsKeyOf({ source, file, variables }: ProviderSecret): AwsKey {
  const fields = file === undefined ? fieldsOfVariables(variables) : fieldsOfFile(file);
  const [id, secret] = [fields.get('aws_access_key_id'), fields.get('aws_secret_access_key')];
  if (id === undefined || secret === undefined || !ID.test(id.reveal()))
    throw refused(
      file === undefined
        ? `${source} needs AWS_SECRET_ACCESS_KEY beside it, and both as AWS shows them`
        : `--acme-dns-setting ${source}: the file needs one key, as lines "aws_access_key_id = …" and "aws_secret_access_key = …"`,
    );
  return { id: id.reveal(), secret, sessionToken: fields.get('aws_session_token') };
}

function fieldsOfVariables(variables: Readonly<Record<string, Secret>>): ReadonlyMap<string, Secret> {
  return new Map(Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]));
}

/** A file with two keys is not read: it does not show which one is meant. */
function fieldsOfFile(file: Secret): ReadonlyMap<string, Secret> {
  const found = [...file.reveal().matchAll(FIELD)].map(([, name = '', value = '']): [string, Secret] => [
    name.toLowerCase(),
    new Secret(value),
  ]);
  const fields = new Map(found);
  return fields.size === found.length ? fields : new Map();
}
