// A painted canvas as a file that says what it shows: PNG with texts, or a PDF of one page.

const bytes = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const packed = async (data) => new Uint8Array(await new Response(new Blob([data]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer());
const WORDS = { title: "Title", description: "Description", creator: "Author", rights: "Copyright", source: "Source" };

/** The check sum of PNG's chunks. */
function crc(data) {
  let sum = -1;
  for (const byte of data) {
    sum ^= byte;
    for (let k = 0; k < 8; k++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum;
}

/** One chunk: length, kind, data, check sum. */
function chunk(kind, data) {
  const whole = new Uint8Array(data.length + 12), view = new DataView(whole.buffer);
  view.setUint32(0, data.length);
  whole.set(bytes(kind), 4);
  whole.set(data, 8);
  view.setInt32(data.length + 8, crc(whole.subarray(4, data.length + 8)));
  return whole;
}

/** PNG, with what is said of the picture before its points. */
export async function inPng(canvas, about) {
  const plain = await new Promise((done) => canvas.toBlob(done)), HEAD = 33;  // signature and IHDR
  const texts = Object.entries(about).map(([name, text]) => chunk("iTXt", new Uint8Array([...bytes(`${WORDS[name]}\0\0\0\0\0`), ...new TextEncoder().encode(text)])));
  return new Blob([plain.slice(0, HEAD), ...texts, plain.slice(HEAD)], { type: "image/png" });
}

/** A text of PDF's: UTF-16 in hexadecimal. */
const written = (text) => `<FEFF${[...Array(text.length).keys()].map((k) => text.charCodeAt(k).toString(16).padStart(4, "0")).join("")}>`;

/** PDF of one page as large as the picture, which is an image on it; what is transparent is white. */
export async function inPdf(canvas, about, width, height) {
  const brush = canvas.getContext("2d"), { width: across, height: down } = canvas, POINT = 0.75;
  brush.globalCompositeOperation = "destination-over";
  brush.fillStyle = "white";
  brush.fillRect(0, 0, across, down);
  const { data } = brush.getImageData(0, 0, across, down), colours = new Uint8Array(3 * across * down);
  for (let k = 0, to = 0; k < data.length; k++) if (k % 4 < 3) colours[to++] = data[k];
  const points = await packed(colours), [wide, high] = [width, height].map((side) => (side * POINT).toFixed(2));
  const content = bytes(`${wide} 0 0 ${high} 0 0 cm /I Do`), { title, description, creator, rights, source } = about;
  const parts = [
    ["<</Type/Catalog/Pages 2 0 R>>"],
    ["<</Type/Pages/Kids[3 0 R]/Count 1>>"],
    [`<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${wide} ${high}]/Resources<</XObject<</I 4 0 R>>>>/Contents 5 0 R>>`],
    [`<</Type/XObject/Subtype/Image/Width ${across}/Height ${down}/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode/Length ${points.length}>>`, points],
    [`<</Length ${content.length}>>`, content],
    [`<</Title${written(title)}/Subject${written(description)}/Author${written(creator)}/Keywords${written(`${rights} ${source}`)}>>`],
  ];
  const pieces = [bytes("%PDF-1.4\n")], places = [];
  let at = pieces[0].length;
  const add = (piece) => { pieces.push(piece); at += piece.length; };
  parts.forEach(([head, stream], k) => {
    places.push(at);
    add(bytes(`${k + 1} 0 obj${head}${stream ? "stream\n" : ""}`));
    if (stream) add(stream);
    add(bytes(`${stream ? "\nendstream" : ""}endobj\n`));
  });
  const rows = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join(""), start = at;
  add(bytes(`xref\n0 ${parts.length + 1}\n0000000000 65535 f \n${rows}trailer<</Size ${parts.length + 1}/Root 1 0 R/Info 6 0 R>>\nstartxref\n${start}\n%%EOF\n`));
  return new Blob(pieces, { type: "application/pdf" });
}
