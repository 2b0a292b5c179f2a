"""Downloads that can be interrupted at any moment and lose next to nothing.

``blocks`` keeps what arrived, ``link`` finds where a file is, ``answers`` judges what a server
says, ``workers`` and ``fetch`` get one file, ``sets`` gets what belongs together, ``queue`` keeps
it all across restarts.
"""
