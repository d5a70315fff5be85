import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

/** Parts of 8 MB in parallel, ranges of the object, an address that is signed for a browser, and a copy. */
const CLIENT = `
import os, sys, urllib.request, boto3
from boto3.s3.transfer import TransferConfig
s3 = boto3.client('s3', endpoint_url=sys.argv[1], region_name='eu-central-1', aws_access_key_id='a', aws_secret_access_key='b')
s3.create_bucket(Bucket='files', CreateBucketConfiguration={'LocationConstraint': 'eu-central-1'})
content = os.urandom(50_000_000)
open('content', 'wb').write(content)
s3.upload_file('content', 'files', 'a folder/ü+1', Config=TransferConfig(multipart_threshold=8_000_000, multipart_chunksize=8_000_000))
assert s3.get_object(Bucket='files', Key='a folder/ü+1', Range='bytes=20000000-20000999')['Body'].read() == content[20000000:20001000]
s3.download_file('files', 'a folder/ü+1', 'received')
assert open('received', 'rb').read() == content
url = s3.generate_presigned_url('get_object', Params={'Bucket': 'files', 'Key': 'a folder/ü+1'})
assert urllib.request.urlopen(url).read() == content
s3.copy_object(Bucket='files', Key='copy', CopySource={'Bucket': 'files', 'Key': 'a folder/ü+1'})
assert [each['Key'] for each in s3.list_objects_v2(Bucket='files')['Contents']] == ['a folder/ü+1', 'copy']
`;

export const app: PublicApp = {
  name: 'moto',
  shows:
    'S3 with boto3: 50 MB in parts, a range, a signed address, a copy and a name with special characters',
  needs: { python3: 'python3-venv' },
  pip: ['moto[s3,server]==5.1.16', 'boto3==1.40.55'],
  program: ({ folder, port }) => ({
    command: join(folder, 'python', 'bin', 'moto_server'),
    args: ['-H', '127.0.0.1', '-p', String(port)],
    // Otherwise it takes the first part of every host for the name of a bucket.
    env: { S3_IGNORE_SUBDOMAIN_BUCKETNAME: 'true' },
  }),
  check: async (share, { folder }) => {
    const client = join(folder, 'client.py');
    writeFileSync(client, `import os\nos.chdir(${JSON.stringify(folder)})\n${CLIENT}`);
    await share.run(join(folder, 'python', 'bin', 'python'), [client, share.origin]);
  },
};
