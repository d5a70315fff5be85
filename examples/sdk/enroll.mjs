// Turns an enrollment token into an identity file: `node enroll.mjs TOKEN_FILE IDENTITY_FILE`.
import { enroll, SdkError } from '@frontdoor-dev/frontdoor/sdk';

const [tokenFile, identityFile] = process.argv.slice(2);
try {
  const { id, apiUrl } = await enroll({ tokenFile, identityFile });
  console.log(`enrolled as ${id} at ${apiUrl}`);
} catch (error) {
  if (!(error instanceof SdkError)) throw error;
  console.error(`${error.code}: ${error.message}\n${error.remedy}`);
  process.exitCode = 1;
}
