/**
 * A picture file as the logo of sign-in pages: a PNG image of at most 320 by 128 pixels in base64. The browser draws the file, also
 * an SVG, so that nothing of it but its picture is sent.
 */

/** Twice the size at which pages show it, for dense screens. */
const WIDTH = 320;
const HEIGHT = 128;
const SMALLER = 0.75;
/** The API accepts 32 KiB. */
const MAX_CHARS = 43_692;
const MAX_FILE_BYTES = 4 * 1_048_576;

/** Returns undefined for a file that the browser cannot draw. */
export async function logoOf(file: File): Promise<string | undefined> {
  if (file.size > MAX_FILE_BYTES) return undefined;
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    return drawn(image);
  } catch {
    return undefined;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** As large as fits into the page and into the bytes that the API accepts. */
function drawn(image: HTMLImageElement): string | undefined {
  // An SVG without a size of its own has none.
  const [width, height] = [image.naturalWidth || WIDTH, image.naturalHeight || HEIGHT];
  const fit = Math.min(1, WIDTH / width, HEIGHT / height);
  for (let scale = fit; scale * Math.max(width, height) >= 1; scale *= SMALLER) {
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const [, base64 = ''] = canvas.toDataURL('image/png').split(',');
    if (base64 !== '' && base64.length <= MAX_CHARS) return base64;
  }
  return undefined;
}
