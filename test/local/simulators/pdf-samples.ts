/** Returns the parts of a PDF that a page counter reads, in base64. `bytes` pads it. */
export const pdfOf = (pages: number, bytes = 0): string => {
  const objects = Array.from(
    { length: pages },
    (_, at) => `${at + 3} 0 obj\n<< /Type /Page /Parent 2 0 R >>\nendobj\n`,
  );
  const tree = `2 0 obj\n<< /Type /Pages /Count ${pages} >>\nendobj\n`;
  const text = `%PDF-1.7\n${tree}${objects.join('')}trailer << /Root 1 0 R >>\n%%EOF\n`;
  return Buffer.from(text.padEnd(bytes, '%')).toString('base64');
};
