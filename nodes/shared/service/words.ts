/** The words of a text, which may have several lines. */
export const words = (text: string): string[] => text.trim().split(/\s+/);
